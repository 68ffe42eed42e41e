"""What a click costs whole: its redirect, its counting and its bytes, here and with what one would build instead."""
