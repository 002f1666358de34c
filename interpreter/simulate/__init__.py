"""Many games by bots: workers, measurements, totals and throughput."""
