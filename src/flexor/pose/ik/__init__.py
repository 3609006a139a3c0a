"""Inverse kinematics: reaching, limbs, looking, limits of joints."""
