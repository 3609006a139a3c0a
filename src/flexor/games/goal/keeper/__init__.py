"""The keeper: body, mind and reach."""
