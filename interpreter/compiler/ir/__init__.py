"""The intermediate form: typed ops between checked trees and WebAssembly."""
