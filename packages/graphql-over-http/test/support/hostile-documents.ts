// Run with --expose-gc, a small heap, and a number of characters. Sends that many characters of valid
// documents with large syntax trees, most of them once and some again, and prints by how many bytes
// the heap has grown.
import { buildSchema } from 'graphql'
import { createHandler } from '../../src/handler.ts'
import { GR, post } from './request.ts'

const characters = Number(process.argv[2])
const schema = buildSchema('type Query { a(lists: [[Int]]): Int }')
const handler = createHandler({ schema })

const toDocument = (number: number) => `{x${number}:a(lists:[${'[]'.repeat(4000)}])}`

async function send(query: string): Promise<void> {
  const [body, { status }] = await handler(post({ query }, { accept: GR }))
  if (status !== 200) throw new Error(`${status}: ${body}`)
}

/** Collects twice, because weak references survive the first collection. */
function measureHeap(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

for (let number = 0; number < 5; number += 1) await send('{ a }')
const before = measureHeap()
let sent = 0
for (let number = 0; sent < characters; number += 1) {
  const query = toDocument(number)
  sent += query.length
  await send(query)
  // Sent again, so that the cache treats it as a document in use.
  if (number % 4 === 0) await send(query)
}
await new Promise((resolve) => setImmediate(resolve))
console.log(measureHeap() - before)
