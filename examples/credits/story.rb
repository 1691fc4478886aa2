# frozen_string_literal: true

# The story of the README: credits of one company, two leases of them.

require 'bigdecimal/util'
require 'securerandom'
require_relative 'credits'

ACME = "acme-#{SecureRandom.uuid}" # a new one each time
HOUR = 3600

def plain(number)
  number&.to_d&.to_s('F')&.delete_suffix('.0') || 'nothing'
end

credits = Credits.new

reserve = lambda do |id, lease, amount|
  reservation = Reservation.new(
    id: "#{ACME}/#{id}", lease_id: lease, company: ACME, credit_type: 'api', credits: amount,
    event_subtype: 'completion', quantity: 1, consumption_rate: amount,
    expires_at: Time.now + HOUR, evaluation_context: { plan: 'pro' }
  )
  puts "#{id} reserves #{amount}: #{credits.add(reservation) ? 'done' : 'refused'}"
end

consume = lambda do |id, amount|
  puts "#{id} consumes #{amount}: #{plain(credits.consume("#{ACME}/#{id}", amount))}"
end

meter = lambda do |id, amount, ref|
  puts "#{id} meters #{amount} as #{ref}: #{plain(credits.meter("#{ACME}/#{id}", amount, ref))}"
end

look = lambda do
  puts "  remaining #{plain(credits.remaining(ACME, 'api'))}, " \
       "reserved #{plain(credits.reserved_credits(ACME, 'api'))}"
end

puts 'a lease of 100'
first = credits.grant(ACME, 'api', 100, Time.now + HOUR)
reserve.call('request-1', first, 30)
reserve.call('request-2', first, 60)
reserve.call('request-3', first, 20)
look.call
consume.call('request-1', 12.5)
consume.call('request-1', 12.5)
look.call

puts 'a successor of 50, while request-2 is open'
second = credits.grant(ACME, 'api', 50, Time.now + (2 * HOUR))
look.call
consume.call('request-2', 1)
reserve.call('request-4', first, 1)
look.call

reserve.call('job', second, 20)
meter.call('job', 7.5, 'chunk-1')
meter.call('job', 7.5, 'chunk-1')
meter.call('job', 5, 'chunk-2')
look.call
consume.call('job', 100)
meter.call('job', 5, 'chunk-2')
meter.call('job', 5, 'chunk-3')
look.call

puts 'with no lease named'
reserve.call('gift', nil, 1000)
look.call
consume.call('gift', 10)
look.call
