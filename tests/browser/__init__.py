"""The app in a real headless browser."""
