// What slots.ts replaces: holds in a Redis sorted set a slot, bookings in PostgreSQL.

import { Redis } from 'ioredis';
import type pg from 'pg';
import type { HoldResult, Slot } from '../slots.js';

// KEYS: the slot.  ARGV: cart, now, expiry, budget.
const TRY = `
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
  if not redis.call('ZSCORE', KEYS[1], ARGV[1])
    and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then
    return 0
  end
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], 3600000)
  return 1`;

export function keyOf(slot: Slot): string {
  return `holds:${slot.shopDomain}:${slot.locationId}:${slot.method}:${slot.startsAt}`;
}

export function createSlotHolds(redis: Redis) {
  async function tryCreateHold(
    slot: Slot, cartToken: string, capacityBudget: number, ttlMs = 600_000,
  ): Promise<HoldResult> {
    const now = Date.now();
    const added = await redis.eval(
      TRY, 1, keyOf(slot), cartToken, now, now + ttlMs, capacityBudget);
    return { success: added === 1, expiresAt: added === 1 ? new Date(now + ttlMs) : null };
  }

  async function releaseHold(slot: Slot, cartToken: string): Promise<void> {
    await redis.zrem(keyOf(slot), cartToken);
  }

  async function countActiveHolds(slot: Slot): Promise<number> {
    await redis.zremrangebyscore(keyOf(slot), '-inf', Date.now());
    return redis.zcard(keyOf(slot));
  }

  return { tryCreateHold, releaseHold, countActiveHolds };
}

/** What the caller reads just before tryCreateHold. */
export async function readBudget(db: pg.Pool, slot: Slot): Promise<number> {
  const { rows: [answer] } = await db.query(
    `SELECT (capacity - (SELECT count(*) FROM old.slot_bookings b
         WHERE (b.shop, b.location, b.method, b.starts_at) = ($1, $2, $3, $4)))::int AS budget
     FROM slot_templates WHERE (shop, location, method) = ($1, $2, $3)`,
    [slot.shopDomain, slot.locationId, slot.method, slot.startsAt]);
  return answer.budget;
}

/** What the caller does once the cart is paid, before releaseHold. */
export async function insertBooking(db: pg.Pool, slot: Slot, cartToken: string) {
  await db.query(
    `INSERT INTO old.slot_bookings (shop, location, method, starts_at, cart_token)
     VALUES ($1, $2, $3, $4, $5)`,
    [slot.shopDomain, slot.locationId, slot.method, slot.startsAt, cartToken]);
}
