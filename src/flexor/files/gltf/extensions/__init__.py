"""Extensions of glTF that are known: one file each, which says so with `EXTENSION`."""
