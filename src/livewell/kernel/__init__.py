"""The kernel: what every room stands on and no room owns."""
