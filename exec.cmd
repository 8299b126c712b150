@rem The scripts of package.json begin with exec, by which the shell of other systems hands its process over, so that
@rem signals for npm reach the program. On Windows, where the shell has no such command, this runs the rest of the line.
@%*
