# frozen_string_literal: true

# Credit leases and the reservations carved out of them, with the calls and answers of the
# store in Redis that this replaces (old/credits.rb).

require 'bigdecimal'
require 'json'
require 'pg'
require 'time'

Reservation = Struct.new(
  :id, :lease_id, :company, :credit_type, :event_subtype, :quantity, :credits,
  :consumption_rate, :expires_at, :evaluation_context, keyword_init: true
)

class Credits
  PAGE = 256
  PAGES = 16
  UNLIMITED = 999_999_999_999
  DETAILS = %i[event_subtype quantity consumption_rate evaluation_context].freeze

  # Options are those of PG.connect.
  def initialize(**options)
    @options = options
    @db = PG.connect(**options)
    @db.type_map_for_results = PG::BasicTypeMapForResults.new(@db)
  end

  def close
    @db.close
  end

  # Starts a lease, which takes the place of the one before: its id. The same again, with
  # the same end, is the same lease.
  def grant(company, credit_type, credits, expires_at)
    pool = pool_of(company, credit_type, leased: true)
    @db.transaction do
      query('SELECT hold_pool_set($1, 0)
             WHERE NOT EXISTS (SELECT FROM hold_pool_status WHERE pool = $1)', pool)
      value('SELECT hold_pool_renew($1, $2, expires_at => $3)', pool, credits, expires_at)
    end
  end

  # What is left of the present lease.
  def remaining(company, credit_type)
    value('SELECT hold_available($1)', pool_of(company, credit_type, leased: true))
  end

  # Carves the reservation out of its lease, and answers it. If its id is there already,
  # nothing changes, and the answer is what is there. nil: the lease has too little, or is
  # not the present one.
  def add(reservation)
    granted = attempt do
      claim(reservation) == 'granted' &&
        leases_of(reservation.id) == [[pool_for(reservation), reservation.lease_id]]
    end
    granted ? reservation : get(reservation.id)
  end

  # The reservation while it is open, else nil.
  def get(id)
    row = query('SELECT pool, generation, qty, expires_at, payload FROM hold_get($1)
                 WHERE state = \'granted\'', id).first
    row && reservation_from(id, row)
  end

  # All that is reserved by open reservations, of earlier leases too.
  def reserved_credits(company, credit_type)
    value('SELECT COALESCE(sum(qty), 0) FROM live_holds WHERE pool IN ($1, $2)',
          pool_of(company, credit_type, leased: true), pool_of(company, credit_type, leased: false))
  end

  # Ends the reservation and answers what was consumed, at most what is left of it; the rest
  # goes back to its lease. Exactly one of many callers gets the figure, the others nil.
  def consume(id, credits)
    row = query('SELECT outcome::text, consumed FROM hold_consume($1, qty => $2)', id, credits).first
    row['consumed'] if %w[consumed released].include?(row['outcome'])
  end

  # Consumes a part and leaves the rest reserved: what was consumed, also when the same ref
  # is sent again. nil: the reservation is not open any more.
  def meter(id, credits, ref)
    row = query('SELECT outcome::text, consumed FROM hold_consume($1, qty => $2, final => false, ref => $3)',
                id, credits, ref).first
    case row['outcome']
    when 'consumed' then row['consumed']
    when 'already_consumed' then metered(id, ref)
    end
  end

  # Tidies up what has expired, a page at a time: how many reservations.
  def sweep_expired
    swept = 0
    PAGES.times do
      page = value('SELECT hold_sweep($1)', PAGE)
      swept += page
      break if page < PAGE
    end
    swept
  end

  # Sweeps every so many seconds, over a connection of its own.
  def start_sweep(seconds)
    @stopping = Queue.new
    @sweeper = Thread.new do
      store = Credits.new(**@options)
      store.sweep_expired until stop_within?(seconds)
      store.close
    end
  end

  # Ends the sweeping; waits no longer than that for a page that is under way.
  def stop(seconds = 5)
    @stopping&.close
    @sweeper&.join(seconds)
  end

  # How many reservations are open.
  def size
    value("SELECT count(*) FROM live_holds
           WHERE pool LIKE 'credits:%' OR pool LIKE 'unleased:%'")
  end

  private

  def claim(reservation)
    value('SELECT outcome::text FROM hold_try($1, $2, qty => $3, ttl => $4::timestamptz - clock_timestamp(),
             budget => $5, payload => $6)',
          reservation.id, pool_for(reservation), reservation.credits, reservation.expires_at,
          (UNLIMITED unless reservation.lease_id), reservation.to_h.slice(*DETAILS))
  end

  # What was consumed under that ref before; another ref may have been the last.
  def metered(id, ref)
    value("SELECT max(qty) FROM hold_history($1, since => '7 days')
           WHERE event = 'consumed' AND ref = $2", id, ref)
  end

  # Where the token has live holds, and out of which lease.
  def leases_of(id)
    query("SELECT pool, generation FROM hold_get($1) WHERE state = 'granted'", id).map do |row|
      [row['pool'], lease_in(row)]
    end
  end

  def reservation_from(id, row)
    company, credit_type = JSON.parse(row['pool'].partition(':').last)
    Reservation.new(id: id, lease_id: lease_in(row), company: company, credit_type: credit_type,
                    credits: row['qty'], expires_at: row['expires_at'],
                    **row['payload'].transform_keys(&:to_sym))
  end

  def lease_in(row)
    row['generation'] if row['pool'].start_with?('credits:')
  end

  def pool_for(reservation)
    pool_of(reservation.company, reservation.credit_type, leased: reservation.lease_id)
  end

  def pool_of(company, credit_type, leased:)
    "#{leased ? 'credits' : 'unleased'}:#{JSON.generate([company, credit_type])}"
  end

  # Commits what the block has done if the block says so.
  def attempt
    query('BEGIN')
    done = yield
    query(done ? 'COMMIT' : 'ROLLBACK')
    done
  rescue StandardError
    query('ROLLBACK') if @db.status == PG::CONNECTION_OK
    raise
  end

  def stop_within?(seconds)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    until @stopping.closed?
      left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      return false if left <= 0

      sleep([left, 0.05].min)
    end
    true
  end

  def query(sql, *values)
    @db.exec_params(sql, values.map { |value| text(value) })
  end

  def value(sql, *values)
    query(sql, *values).getvalue(0, 0)
  end

  def text(value)
    case value
    when BigDecimal then value.to_s('F')
    when Time then value.iso8601(6)
    when Hash then JSON.generate(value)
    else value
    end
  end
end
