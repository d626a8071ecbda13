"""Load on loopback; nothing here is a test that asserts."""
