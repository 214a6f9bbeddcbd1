"""The one exception that means: the user can mend this."""


class InputError(Exception):
    """Bad input or a refusal of the outside world.

    The message is one sentence that names the file, field, value and remedy; the command line prints it
    without a traceback and exits with code 1.
    """


def first_line(error: BaseException) -> str:
    """What an error says, or where it says nothing its name, on one line."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
