# frozen_string_literal: true

# What credits.rb replaces: a lease's remaining credits, a row a reservation, and an index
# of the open ones, in Redis, written one after the other.

require 'bigdecimal'
require 'redis'

module Old
  class Credits
    def initialize(redis)
      @redis = redis
    end

    def grant(lease_id, credits)
      @redis.set("lease:#{lease_id}", credits)
    end

    def remaining(lease_id)
      BigDecimal(@redis.get("lease:#{lease_id}"))
    end

    def add(id, lease_id, credits, expires_at)
      return if @redis.exists?("reservation:#{id}")

      if @redis.incrbyfloat("lease:#{lease_id}", -credits).negative?
        @redis.incrbyfloat("lease:#{lease_id}", credits)
        return
      end
      @redis.mapped_hmset("reservation:#{id}", lease_id: lease_id, credits: credits)
      @redis.zadd("open:#{lease_id}", expires_at.to_f, id)
    end

    def reserved_credits(lease_id)
      @redis.zrange("open:#{lease_id}", 0, -1).sum do |id|
        BigDecimal(@redis.hget("reservation:#{id}", 'credits') || 0)
      end
    end

    def consume(id, lease_id, credits)
      return unless @redis.zrem("open:#{lease_id}", id)

      reserved = BigDecimal(@redis.hget("reservation:#{id}", 'credits'))
      @redis.del("reservation:#{id}")
      consumed = [credits, reserved].min
      @redis.incrbyfloat("lease:#{lease_id}", (reserved - consumed).to_f)
      consumed
    end

    # Gives back what has expired: it is found by the index alone.
    def sweep_expired(lease_id, now)
      @redis.zrangebyscore("open:#{lease_id}", '-inf', now.to_f).count do |id|
        consume(id, lease_id, BigDecimal(0))
      end
    end
  end
end
