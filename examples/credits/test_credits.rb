# frozen_string_literal: true

# What the old store could not promise, and a crowd.  Redis is at REDIS_SOCKET.

require 'delegate'
require 'minitest/autorun'
require 'securerandom'
require_relative 'credits'
require_relative 'old/credits'

HOUR = 3600

class CrashTest < Minitest::Test
  Crash = Class.new(StandardError)

  # A connection of a process that dies after so many writes.
  class Dying < SimpleDelegator
    def initialize(redis, writes)
      super(redis)
      @writes = writes
    end

    %i[incrbyfloat mapped_hmset zadd zrem del].each do |write|
      define_method(write) do |*arguments|
        raise Crash if @writes.zero?

        @writes -= 1
        super(*arguments)
      end
    end
  end

  def setup
    @redis = Redis.new(path: ENV.fetch('REDIS_SOCKET'))
    @lease = SecureRandom.uuid
    @old = Old::Credits.new(@redis)
    @old.grant(@lease, 100)
  end

  def dying(writes)
    Old::Credits.new(Dying.new(@redis, writes))
  end

  def add(store)
    store.add("#{@lease}/1", @lease, 30, Time.now + 60)
  end

  # What the sweep brings back once everything has expired.
  def remaining_at_last
    @old.sweep_expired(@lease, Time.now + HOUR)
    @old.remaining(@lease)
  end

  def test_old_add_leaks_without_a_row
    assert_raises(Crash) { add(dying(1)) }
    assert_equal 0, @old.reserved_credits(@lease)
    assert_equal 70, remaining_at_last
  end

  def test_old_add_leaks_without_an_index
    assert_raises(Crash) { add(dying(2)) }
    assert_equal 0, @old.reserved_credits(@lease)
    assert_equal 70, remaining_at_last
  end

  def test_old_consume_leaks_the_unspent_part
    add(@old)
    assert_raises(Crash) { dying(2).consume("#{@lease}/1", @lease, 10) }
    assert_equal 70, remaining_at_last
  end
end

class CreditsTest < Minitest::Test
  def setup
    @credits = Credits.new
    @acme = SecureRandom.uuid
    @lease = @credits.grant(@acme, 'api', 100, Time.now + HOUR)
    @admin = PG.connect
  end

  def teardown
    @credits.close
    @admin.close
  end

  def reservation(id, credits, lease_id: @lease, seconds: 60, company: @acme)
    Reservation.new(
      id: "#{@acme}/#{id}", lease_id: lease_id, company: company, credit_type: 'api',
      event_subtype: 'completion', quantity: 3, credits: credits, consumption_rate: 0.5,
      expires_at: Time.now.round + seconds, evaluation_context: { 'plan' => 'pro' }
    )
  end

  def consume(id, credits)
    @credits.consume("#{@acme}/#{id}", credits)
  end

  def meter(id, credits, ref)
    @credits.meter("#{@acme}/#{id}", credits, ref)
  end

  # remaining, reserved
  def balance
    [@credits.remaining(@acme, 'api'), @credits.reserved_credits(@acme, 'api')]
  end

  def at(offset)
    @credits.instance_variable_get(:@db).exec("SET hold_ledger.clock_offset = '#{offset}'")
  end

  def crowd(size)
    gate = Queue.new
    threads = Array.new(size) do |number|
      Thread.new do
        store = Credits.new
        gate.pop
        yield store, number
      ensure
        store.close
      end
    end
    gate.close
    threads.map(&:value)
  end

  def assert_sound
    assert_empty @admin.exec('SELECT * FROM hold_verify()').to_a
  end

  def test_get_answers_what_was_added
    added = @credits.add(reservation(1, 30))
    assert_equal reservation(1, 30), added
    found = @credits.get(added.id)
    assert_in_delta added.expires_at.to_f, found.expires_at.to_f, 1
    found.expires_at = added.expires_at
    assert_equal added, found
    assert_nil @credits.get('never seen')
  end

  def test_add_is_idempotent
    @credits.add(reservation(1, 30))
    again = @credits.add(reservation(1, 50, seconds: 600))
    assert_equal [30, @acme], [again.credits, again.company]
    assert_operator again.expires_at, :<, Time.now + 120
    assert_equal 30, @credits.add(reservation(1, 30, company: SecureRandom.uuid, lease_id: nil)).credits
    assert_equal [70, 30], balance
  end

  def test_consume_clamps_and_refunds_once
    @credits.add(reservation(1, 30))
    @credits.add(reservation(2, 30))
    assert_equal 12.5, consume(1, 12.5)
    assert_nil consume(1, 12.5)
    assert_nil consume('never seen', 1)
    assert_equal 30, consume(2, 31)
    assert_equal [57.5, 0], balance
  end

  def test_nothing_consumed_is_an_end_too
    @credits.add(reservation(1, 30))
    assert_equal 0, consume(1, 0)
    assert_nil consume(1, 0)
    assert_equal [100, 0], balance
  end

  def test_unspent_part_goes_to_no_successor
    @credits.add(reservation(1, 30))
    successor = @credits.grant(@acme, 'api', 50, Time.now + (2 * HOUR))
    assert_equal [50, 30], balance
    assert_equal 10, consume(1, 10)
    assert_equal [50, 0], balance
    assert_nil @credits.add(reservation(2, 1))
    refute_nil @credits.add(reservation(2, 1, lease_id: successor))
    assert_equal [49, 1], balance
  end

  def test_grant_again_is_the_same_lease
    finish = Time.now + (3 * HOUR)
    second = @credits.grant(@acme, 'api', 50, finish)
    assert_equal second, @credits.grant(@acme, 'api', 50, finish)
  end

  def test_lease_ends
    at('61 min')
    assert_nil @credits.add(reservation(1, 1, seconds: 2 * HOUR))
    assert_equal [0, 0], balance
  end

  def test_reservation_of_no_lease
    refute_nil @credits.add(reservation(1, 1000, lease_id: nil))
    assert_nil @credits.get("#{@acme}/1").lease_id
    assert_equal [100, 1000], balance
    assert_equal 10, consume(1, 10)
    assert_equal [100, 0], balance
  end

  def test_metering
    @credits.add(reservation(1, 30))
    assert_equal 10, meter(1, 10, 'a')
    assert_equal 10, meter(1, 10, 'a')
    assert_equal [70, 20], balance
    assert_equal 5, consume(1, 5)
    assert_equal 10, meter(1, 10, 'a')
    assert_nil meter(1, 1, 'b')
    assert_equal [85, 0], balance
  end

  def test_expired_credits_are_back_without_a_sweep
    @credits.add(reservation(1, 30))
    size = @credits.size
    at('2 min')
    assert_equal [100, 0], balance
    assert_nil @credits.get("#{@acme}/1")
    assert_nil consume(1, 1)
    assert_operator @credits.size, :<, size
  end

  def test_sweep_in_pages
    300.times { |number| @credits.add(reservation(number, 0.1)) }
    at('2 min')
    assert_operator @credits.sweep_expired, :>=, 300
    assert_equal 0, @credits.sweep_expired
  end

  def test_sweeper
    @credits.add(reservation(1, 1, seconds: 1))
    @credits.start_sweep(0.1)
    rows = "SELECT FROM hold_history('#{@acme}/1') WHERE event = 'expired'"
    deadline = Time.now + 30
    sleep 0.1 until @admin.exec(rows).ntuples == 1 || Time.now > deadline
    refute_nil @credits.stop, 'it has ended'
    assert_equal 1, @admin.exec(rows).ntuples
  end

  # The old store left the lease debited here.
  def test_crash_in_the_middle_leaves_nothing
    dying = Credits.new
    db = dying.instance_variable_get(:@db)
    dying.define_singleton_method(:leases_of) do |_id|
      db.exec('SELECT pg_terminate_backend(pg_backend_pid())')
    end
    assert_raises(PG::Error) { dying.add(reservation(1, 30)) }
    assert_equal [100, 0], balance
    assert_sound
  end

  def test_one_of_sixty_consumes
    @credits.add(reservation(1, 30))
    figures = crowd(60) { |store, number| store.consume("#{@acme}/1", number % 20 + 1) }.compact
    assert_equal 1, figures.size
    assert_equal [100 - figures.first, 0], balance
  end

  def test_sixty_reservations_of_forty
    added = crowd(60) { |store, number| store.add(reservation(number, 2.5)) }.compact
    assert_equal 40, added.size
    assert_equal [0, 100], balance
    figures = crowd(60) { |store, number| store.consume("#{@acme}/#{number}", 0.5) }.compact
    assert_equal [40, 20], [figures.size, figures.sum]
    assert_equal [80, 0], balance
    assert_sound
  end
end
