"""From checked trees and stretches to the intermediate form."""
