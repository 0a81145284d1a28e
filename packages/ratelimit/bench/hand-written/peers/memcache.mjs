import { createNode } from 'memcache'

/**
 * The text protocol, with one `get` for all counters of a call. The commands go directly to the node, because
 * the methods of the client await a promise before they send, and so lose the order of calls.
 */
export async function open({ hosts: [{ host, port }] }) {
  const node = createNode(host, port, { timeout: 60_000 })
  await node.connect()

  const change = (name, hits, expires, isMissing, changed, stepsLeft = 2) => {
    const again = (isRefused) => {
      if (isRefused && stepsLeft > 0 && hits > 0) {
        change(name, hits, expires, !isMissing, changed, stepsLeft - 1)
      } else changed()
    }
    if (hits < 0) {
      node.command(`decr ${name} ${-hits}`).then(changed, changed)
    } else if (isMissing) {
      const value = String(hits)
      const command = `add ${name} 0 ${expires} ${value.length}\r\n${value}`
      node.command(command).then((reply) => again(reply !== 'STORED'), changed)
    } else {
      const isNumber = (reply) => typeof reply === 'number'
      node.command(`incr ${name} ${hits}`).then((reply) => again(!isNumber(reply)), changed)
    }
  }
  return {
    get(names, found) {
      const options = { isMultiline: true, requestedKeys: names }
      node.command(`get ${names.join(' ')}`, options).then((result) => {
        const counts = new Array(names.length)
        // `foundKeys` are the existing keys, in the order of the values.
        const { values = [], foundKeys = [] } = result ?? {}
        for (let at = 0, next = 0; at < names.length; at++) {
          if (foundKeys[next] === names[at]) counts[at] = Number(values[next++])
        }
        found(counts)
      }, found)
    },
    change,
    close: async () => void (await node.disconnect()),
  }
}
