import { createClient, createCluster } from '@redis/client'

/** The library itself combines the commands of one turn of the event loop into one write. */
export async function open({ hosts, isCluster }) {
  const nodes = hosts.map(({ host, port }) => ({ socket: { host, port } }))
  const client = isCluster ? createCluster({ rootNodes: nodes }) : createClient(nodes[0])
  client.on('error', (error) => console.error(error.message))
  await client.connect()
  const send = isCluster
    ? (words) => client.sendCommand(words[0] === 'EVAL' ? words[3] : words[1], false, words)
    : (words) => client.sendCommand(words)
  return {
    run(commands, replied) {
      const replies = new Array(commands.length)
      let left = commands.length
      for (let at = 0; at < commands.length; at++) {
        const settle = (reply) => {
          replies[at] = reply
          left--
          if (left === 0) replied(replies)
        }
        send(commands[at]).then(settle, settle)
      }
    },
    close: async () => client.destroy(),
  }
}
