"""Wrong models: what each of them believes, and where that is written.

The check must find every one of them, or it would not find an extension that
believes the same.
"""

import holding
import rooms
import settling
from ledger import Claim, World
from comparison import Comparison

room_for = World.room_for
claims_in = World.claims_in
in_the_way = rooms.in_the_way
consumption = settling._consumption


def last_expiry(world, pool, but_of):
    times = [c.expires_at for token, c in world.claims_in(pool) if token != but_of]
    return max(times, default=None)


MUTANTS = [
    ("a hold is live at its very end", Claim, "live",
     lambda self, clock: self.ended is None and self.expires_at >= clock),
    ("a change competes with the token's own hold", World, "room_for",
     lambda self, pool, budget=None, but_of=None: room_for(self, pool, budget)),
    ("a budget does not limit a counted pool", World, "room_for",
     lambda self, pool, budget=None, but_of=None:
     room_for(self, pool, budget if pool.capacity is None else None, but_of)),
    ("holds of older leases count in the present one", World, "claims_in",
     lambda self, pool, any_generation=False: claims_in(self, pool, True)),
    ("tenants see each other's pools", World, "fence",
     property(lambda self: self.fences["a"])),
    ("a rollback leaves what was done", Comparison, "restore", lambda self, world: None),
    ("retry_at is the last expiry", holding, "_next_expiry", last_expiry),
    ("replace releases nothing", holding, "_release_others", lambda *_: None),
    ("a late payment always fits", settling, "_fits_late", lambda *_: True),
    ("what lapsed long ago blocks", settling, "lapsed_before", lambda *_: False),
    ("a capture's ref is forgotten", settling, "_consumption",
     lambda *given: consumption(*given[:-1], None)),
    ("the day of departure is a night", rooms, "nights_of",
     lambda pieces: {n for start, end in pieces for n in range(start, end + 1)}),
    ("a token's own nights are in its way", rooms, "in_the_way",
     lambda world, room, stay, token=None, but=None: in_the_way(world, room, stay, but=but)),
]
