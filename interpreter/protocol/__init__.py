"""Engine protocol for other programs: requests and answers as lines of JSON."""
