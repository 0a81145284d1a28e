import { Cluster, Redis } from 'ioredis'

/** The library collects the commands of one turn of the event loop into a pipeline per node. */
export async function open({ hosts, isCluster }) {
  const options = { enableAutoPipelining: true, lazyConnect: true }
  const client = isCluster ? new Cluster(hosts, options) : new Redis({ ...hosts[0], ...options })
  await client.connect()
  return {
    run(commands, replied) {
      const replies = new Array(commands.length)
      let left = commands.length
      for (let at = 0; at < commands.length; at++) {
        const [name, ...values] = commands[at]
        const settle = (reply) => {
          replies[at] = reply
          left--
          if (left === 0) replied(replies)
        }
        client[name.toLowerCase()](...values).then(settle, settle)
      }
    },
    close: async () => client.disconnect(),
  }
}
