"""The names and results of QRL's ``pyqrllib``.

``from tetralith.compat import pyqrllib`` stands for ``from pyqrllib import pyqrllib``, and
``from tetralith.compat.pyqrllib import XmssFast`` for ``from pyqrllib.pyqrllib import XmssFast``. A
program that cannot be edited runs unchanged under ``python -m tetralith.compat.pyqrllib program.py``
or after :func:`install`.

.. warning::
   pyqrllib keeps the index of the next signature in the object alone, and so does this module, unless
   :func:`use_store` names a folder or ``TETRALITH_PYQRLLIB_STORE`` does. Two signatures of one index
   let anybody forge.

What protects the index:

================================================  ===========  ==============
event                                             without      with a store
================================================  ===========  ==============
``setIndex`` to a lower index                     refused      refused
a forked child uses its parent's object           refused      refused
the object is copied or pickled                   refused      refused
two objects of one seed, in one or two processes  not noticed  other indices
the program ends, and makes the key again         not noticed  goes on
the program is killed while it signs              not noticed  index is lost
a state is restored from a backup                 not noticed  refused [1]_
a state is lost or deleted                        not noticed  refused [1]_
the state and its ``.lock`` file are restored     not noticed  not noticed
the seed is used on a second machine              not noticed  not noticed
the first use of a store, for a used key          not noticed  not noticed
================================================  ===========  ==============

.. [1] Where the ``.lock`` file beside the state stayed: it knows how far the state was.

After a refusal, and by hand in the last three cases, call ``setIndex`` with an index above every index
that any copy of the key used (the ledger shows them) before the first signature. A key file of
:class:`tetralith.xmss.Signer` is safer: it is never made from a seed again.
"""

from .pyqrllib import *  # noqa: F403
from .pyqrllib import __all__ as __all__
