// The story of the README: one slot with two deliveries, and who gets them.

import pg from 'pg';
import { createSlotHolds, type Slot } from './slots.js';

const db = new pg.Pool(); // PGHOST, PGDATABASE and so on say where
const { tryCreateHold, releaseHold, countActiveHolds, bookHold, cancelBooking } = createSlotHolds(db);

const slot: Slot = {
  shopDomain: 'bakery.example',
  locationId: 'harbour',
  method: 'delivery',
  startsAt: '2031-05-01T10:00:00Z',
};

async function ask(cart: string, budget: number | null = null) {
  const { success, expiresAt } = await tryCreateHold(slot, cart, budget);
  const minutes = Math.round(((expiresAt?.getTime() ?? 0) - Date.now()) / 60_000);
  console.log(`${cart} asks: ${success ? `held for ${minutes} minutes` : 'refused'}`);
}

async function book(cart: string) {
  const booking = await bookHold(slot, cart);
  console.log(`${cart} pays: ${booking === null ? 'nothing to book' : 'booked'}`);
}

async function look() {
  console.log(`${await countActiveHolds(slot)} held`);
}

await db.query(
  `INSERT INTO slot_templates VALUES ($1, $2, $3, 2) ON CONFLICT DO NOTHING`,
  [slot.shopDomain, slot.locationId, slot.method]);

await ask('cart-ann');
await ask('cart-bob');
await ask('cart-cid');
await ask('cart-ann');
await look();

await releaseHold(slot, 'cart-bob');
console.log('cart-bob leaves');
await ask('cart-cid');

console.log('cart-dora reads the budget: 2');
await book('cart-ann');
await book('cart-ann');
await ask('cart-dora', 2);
await look();

await cancelBooking(slot, 'cart-ann');
console.log('cart-ann cancels');
await ask('cart-dora');
await releaseHold(slot, 'cart-cid');
await releaseHold(slot, 'cart-dora');
await look();

await db.end();
