// Measures the cost of decisions of one limiter.
// Arguments: a file with limiters, and which of them.

const [file, name] = process.argv.slice(2)
const create = (await import(`./${file}`))[name]

const toAddress = (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`

/** A prime number, so that the keys come in another order than at first. */
const stride = 7919

async function decideMany(decide, keys, calls) {
  const isPromised = typeof decide(keys[0])?.then === 'function'
  for (let call = 0; call < calls; call++) {
    const decision = decide(keys[(call * stride) % keys.length])
    if (isPromised) await decision
  }
}

/** Makes concurrent decisions, like a server with many requests in progress. */
async function decideTogether(decide, keys, calls, concurrency) {
  let next = 0
  const work = async () => {
    while (next < calls) await decide(keys[(next++ * stride) % keys.length])
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

function readMemory() {
  globalThis.gc()
  // The memory of array buffers is a part of `external`.
  const { heapUsed, external, rss } = process.memoryUsage()
  return { bytes: heapUsed + external, rss }
}

let decide
let names

const jobs = {
  /** Creates the limiter and counts every key once. */
  async prepare({ keys }) {
    names = Array.from({ length: keys }, (_, n) => toAddress(n))
    decide = await create(process.env.REDIS_URL)
    for (const key of names) await decide(key)
    return {}
  },
  async spend({ calls, concurrency = 1 }) {
    const start = process.cpuUsage()
    if (concurrency === 1) await decideMany(decide, names, calls)
    else await decideTogether(decide, names, calls, concurrency)
    const { user, system } = process.cpuUsage(start)
    return { microseconds: (user + system) / calls }
  },
  /** Runs in a new process, in which only the limiter keeps the keys. */
  async weigh({ keys }) {
    decide = await create()
    await decide('192.0.2.1')
    const before = readMemory()
    for (let n = 0; n < keys; n++) await decide(toAddress(n))
    const after = readMemory()
    return { bytes: (after.bytes - before.bytes) / keys, rss: (after.rss - before.rss) / keys }
  },
}

process.on('disconnect', () => process.exit())
process.on('message', async ({ kind, ...job }) => {
  try {
    process.send(await jobs[kind](job))
  } catch (error) {
    process.send({ failure: error.stack })
  }
})
