// Holds on delivery slots, with the calls and answers of the Redis module that it
// replaces (old/slots.ts), and the booking that the old one had to leave to others.

import type pg from 'pg';

export interface Slot {
  shopDomain: string;
  locationId: string;
  method: string; // delivery, pickup and so on
  startsAt: string; // the exact instant, ISO 8601
}

export interface HoldResult {
  success: boolean;
  expiresAt: Date | null; // null: refused
}

/** One name for one slot, however its instant was written. */
export function poolOf(slot: Slot): string {
  const start = new Date(slot.startsAt).toISOString();
  return 'slot:' + JSON.stringify([slot.shopDomain, slot.locationId, slot.method, start]);
}

export function createSlotHolds(db: pg.Pool) {
  /**
   * Holds the slot for the cart, or renews its hold. What the database counts is decisive;
   * capacityBudget can only tighten it, and may be null.
   */
  async function tryCreateHold(
    slot: Slot, cartToken: string, capacityBudget: number | null, ttlMs = 600_000,
  ): Promise<HoldResult> {
    const { rows: [got] } = await db.query(
      `SELECT granted, expires_at FROM hold_try($1, $2, budget => $3, ttl => $4)`,
      [cartToken, poolOf(slot), capacityBudget, `${ttlMs} milliseconds`]);
    return { success: got.granted, expiresAt: got.granted ? got.expires_at : null };
  }

  async function releaseHold(slot: Slot, cartToken: string): Promise<void> {
    await db.query('SELECT FROM hold_release($1, $2)', [cartToken, poolOf(slot)]);
  }

  async function countActiveHolds(slot: Slot): Promise<number> {
    const { rows: [answer] } = await db.query(
      'SELECT hold_count($1)::int AS holds', [poolOf(slot)]);
    return answer.holds;
  }

  /**
   * Turns the cart's hold into a booking, both or neither; a hold that has just expired
   * will do while there is room. Answers the booking's number, also when asked again, or
   * null: there is no hold to book.
   */
  async function bookHold(slot: Slot, cartToken: string): Promise<number | null> {
    const values = [slot.shopDomain, slot.locationId, slot.method, slot.startsAt, cartToken];
    const { rows: [made] } = await db.query(
      `INSERT INTO slot_bookings (shop, location, method, starts_at, cart_token)
       SELECT $1, $2, $3, $4, $5 FROM hold_consume($5, $6, late => true)
       WHERE outcome = 'consumed' RETURNING booking::int`,
      [...values, poolOf(slot)]);
    return made?.booking ?? findBooking(values);
  }

  async function findBooking(values: string[]): Promise<number | null> {
    const { rows: [found] } = await db.query(
      `SELECT booking::int FROM slot_bookings
       WHERE (shop, location, method, starts_at, cart_token) = ($1, $2, $3, $4, $5)`, values);
    return found?.booking ?? null;
  }

  /** Gives a booking up; the cart may hold and book the slot again. */
  async function cancelBooking(slot: Slot, cartToken: string): Promise<boolean> {
    const { rowCount } = await db.query(
      `WITH gone AS (
         DELETE FROM slot_bookings
         WHERE (shop, location, method, starts_at, cart_token) = ($1, $2, $3, $4, $5)
         RETURNING cart_token)
       SELECT FROM gone, hold_return(cart_token, $6)`,
      [slot.shopDomain, slot.locationId, slot.method, slot.startsAt, cartToken, poolOf(slot)]);
    return rowCount === 1;
  }

  return { tryCreateHold, releaseHold, countActiveHolds, bookHold, cancelBooking };
}
