import memjs from 'memjs'

/** The binary protocol, with a `get` per counter, and an increment that creates a missing counter. */
export async function open({ hosts }) {
  const names = hosts.map(({ host, port }) => `${host}:${port}`).join(',')
  const client = memjs.Client.create(names, { timeout: 60, retries: 1, logger: { log() {} } })
  await client.get('connect')
  return {
    get(counters, found) {
      const counts = new Array(counters.length)
      let left = counters.length
      let failure
      for (let at = 0; at < counters.length; at++) {
        client.get(counters[at], (error, value) => {
          failure ??= error ?? undefined
          counts[at] = value === null ? undefined : Number(value.toString())
          left--
          if (left === 0) found(failure ?? counts)
        })
      }
    },
    change(name, hits, expires, _isMissing, changed) {
      if (hits < 0) client.decrement(name, -hits, { expires: 0xffffffff }, changed)
      else client.increment(name, hits, { initial: hits, expires }, changed)
    },
    close: async () => client.close(),
  }
}
