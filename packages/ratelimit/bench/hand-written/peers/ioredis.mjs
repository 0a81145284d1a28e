import { Redis } from 'ioredis'

/** One pipeline per decision. */
export async function open({ hosts }) {
  const client = new Redis({ ...hosts[0], lazyConnect: true })
  await client.connect()
  return {
    run(commands, replied) {
      const pipeline = client.pipeline()
      for (const [name, ...values] of commands) pipeline[name.toLowerCase()](...values)
      pipeline.exec((_, results) => replied(results.map(([error, reply]) => error ?? reply)))
    },
    close: async () => client.disconnect(),
  }
}
