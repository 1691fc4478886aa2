// What the old module could not promise, and a crowd. Redis is at REDIS_SOCKET.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createSlotHolds, type Slot } from './slots.js';
import * as old from './old/slots.js';

const db = new pg.Pool({ max: 60 });
const redis = new Redis(process.env.REDIS_SOCKET!);
const now = createSlotHolds(db);
const before = old.createSlotHolds(redis);

after(async () => {
  await db.end();
  redis.disconnect();
});

/** A slot of a shop of its own. */
async function newSlot(shopDomain: string, capacity: number): Promise<Slot> {
  await db.query(`INSERT INTO slot_templates VALUES ($1, 'main', 'pickup', $2)`,
    [shopDomain, capacity]);
  return { shopDomain, locationId: 'main', method: 'pickup', startsAt: '2031-05-01T10:00:00.000Z' };
}

async function bookings(schema: string, slot: Slot): Promise<number> {
  const { rows: [answer] } = await db.query(
    `SELECT count(*)::int AS n FROM ${schema}.slot_bookings WHERE shop = $1`, [slot.shopDomain]);
  return answer.n;
}

async function assertSound() {
  assert.deepEqual((await db.query('SELECT * FROM hold_verify()')).rows, []);
}

test('old: a booking between the read and the hold oversells', async () => {
  const slot = await newSlot('stale.old', 1);
  await before.tryCreateHold(slot, 'ann', await old.readBudget(db, slot));
  const stale = await old.readBudget(db, slot);

  await old.insertBooking(db, slot, 'ann');
  await before.releaseHold(slot, 'ann');

  assert.ok((await before.tryCreateHold(slot, 'bob', stale)).success);
  await old.insertBooking(db, slot, 'bob');
  assert.equal(await bookings('old', slot), 2, 'one delivery, sold twice');
});

test('new: the same, and the second is refused', async () => {
  const slot = await newSlot('stale.new', 1);
  assert.ok((await now.tryCreateHold(slot, 'ann', 1)).success);
  const stale = 1;

  assert.ok(await now.bookHold(slot, 'ann'));

  assert.deepEqual(await now.tryCreateHold(slot, 'bob', stale), { success: false, expiresAt: null });
  assert.equal(await now.bookHold(slot, 'bob'), null);
  assert.equal(await bookings('public', slot), 1);
});

test('new: a booking that has not committed yet is waited for', async () => {
  const slot = await newSlot('waiting.new', 1);
  await now.tryCreateHold(slot, 'eve', 1);
  const client = await db.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM hold_consume($1)', ['eve']);

  const answer = now.tryCreateHold(slot, 'fred', 1);
  await client.query(
    `INSERT INTO slot_bookings (shop, location, method, starts_at, cart_token)
     VALUES ($1, 'main', 'pickup', $2, 'eve')`, [slot.shopDomain, slot.startsAt]);
  await client.query('COMMIT');
  client.release();

  assert.equal((await answer).success, false);
});

test('old: a client whose clock is fast throws others out', async t => {
  const slot = await newSlot('clock.old', 1);
  await before.tryCreateHold(slot, 'ann', 1);
  const real = Date.now();
  t.mock.method(Date, 'now', () => real + 11 * 60_000);
  assert.ok((await before.tryCreateHold(slot, 'bob', 1)).success);
});

test('new: clocks of clients do not matter', async t => {
  const slot = await newSlot('clock.new', 1);
  await now.tryCreateHold(slot, 'gil', 1);
  const real = Date.now();
  t.mock.method(Date, 'now', () => real + 11 * 60_000);
  assert.equal((await now.tryCreateHold(slot, 'hal', 1)).success, false);
  assert.equal(await now.countActiveHolds(slot), 1);
});

test('old: after an hour the set is gone, whatever was promised', async () => {
  const slot = await newSlot('hour.old', 1);
  const { expiresAt } = await before.tryCreateHold(slot, 'ann', 1, 7_200_000);
  const left = await redis.pttl(old.keyOf(slot));
  assert.ok(Date.now() + left < expiresAt!.getTime() - 3_000_000);
});

test('new: a hold lasts as long as was promised', async () => {
  const slot = await newSlot('hour.new', 1);
  const { expiresAt } = await now.tryCreateHold(slot, 'ida', 1, 7_200_000);
  assert.ok(Math.abs(expiresAt!.getTime() - Date.now() - 7_200_000) < 60_000);
  const client = await db.connect();
  await client.query(`SET hold_ledger.clock_offset = '119 min'`);
  const { rows } = await client.query('SELECT state FROM hold_get($1)', ['ida']);
  await client.query('RESET hold_ledger.clock_offset');
  client.release();
  assert.deepEqual(rows, [{ state: 'granted' }]);
});

test('new: no booking without its hold, no consumed hold without its booking', async () => {
  const slot = await newSlot('both.new', 1);
  const booking = [slot.shopDomain, slot.startsAt];
  await assert.rejects(db.query(
    `INSERT INTO slot_bookings (shop, location, method, starts_at, cart_token)
     VALUES ($1, 'main', 'pickup', $2, 'jim')`, booking), { code: '23514' });

  await now.tryCreateHold(slot, 'jim', 1);
  const wrong = { ...slot, shopDomain: 'no such shop' };
  assert.equal(await now.bookHold(wrong, 'jim'), null);
  assert.equal(await now.countActiveHolds(slot), 1);
  assert.ok(await now.bookHold(slot, 'jim'));
  assert.equal(await now.countActiveHolds(slot), 0);
});

test('new: what is cancelled can be held and booked again', async () => {
  const slot = await newSlot('cancelled.new', 1);
  await now.tryCreateHold(slot, 'lea', 1);
  await now.bookHold(slot, 'lea');
  assert.equal(await now.cancelBooking(slot, 'lea'), true);
  assert.equal(await now.cancelBooking(slot, 'lea'), false);
  assert.ok((await now.tryCreateHold(slot, 'lea', 1)).success);
  assert.ok(await now.bookHold(slot, 'lea'));
});

test('a telephone booking counts as soon as it has committed', async () => {
  const slot = await newSlot('phone.new', 1);
  await db.query(
    `INSERT INTO slot_bookings (shop, location, method, starts_at)
     VALUES ($1, 'main', 'pickup', $2)`, [slot.shopDomain, slot.startsAt]);
  assert.equal((await now.tryCreateHold(slot, 'kim', 1)).success, false);
});

test('60 carts come for 20 deliveries', async () => {
  const slot = await newSlot('crowd.new', 20);

  /** Every third thinks better of it; the others ask until they have booked, or all is sold. */
  async function visit(number: number): Promise<boolean> {
    const cart = `crowd-${number}`;
    while (await bookings('public', slot) < 20) {
      const budget = 20 - await bookings('public', slot);
      if ((await now.tryCreateHold(slot, cart, budget)).success) {
        if (number % 3 > 0) return await now.bookHold(slot, cart) !== null;
        await now.releaseHold(slot, cart);
        return false;
      }
    }
    return false;
  }

  const booked = await Promise.all(Array.from({ length: 60 }, (_, n) => visit(n)));
  assert.equal(booked.filter(Boolean).length, 20);
  assert.equal(await bookings('public', slot), 20);
  assert.equal(await now.countActiveHolds(slot), 0);
  await assertSound();
});
