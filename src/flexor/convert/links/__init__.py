"""Links: small bones that keep the volume of joints."""
