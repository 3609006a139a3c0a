"""Passes over weights, one file each."""
