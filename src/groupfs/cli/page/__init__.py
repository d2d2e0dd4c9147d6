"""``groupfs app``: a page on this machine for people without a terminal.

``server`` starts and ends it, ``routes`` has its addresses, ``state`` what is open in it, ``form``
what is filled in, ``look`` what columns were taken for. Whatever it does is a command that it shows
and that ``tasks`` runs in a process of its own; ``sweep`` removes what is left.
"""
