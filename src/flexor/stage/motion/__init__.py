"""The motion of a tick: what bodies play, limbs that reach, feet that stand."""
