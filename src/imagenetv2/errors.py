"""The one exception that means: the user can mend this."""


class InputError(Exception):
    """Bad input or a refusal of the outside world.

    The message is one sentence that names the file, field, value and remedy; the command line prints it
    without a traceback and exits with code 1.
    """
