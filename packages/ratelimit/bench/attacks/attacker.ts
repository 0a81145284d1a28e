// Runs one attack in a thread of its own, so that the client that is measured has its event loop for itself.

import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { frameTypes, settingIds, toFrame, toSettings, walkFrames } from '../load/frames.ts'
import { attacks } from './attacks.ts'

export interface AttackOrder {
  readonly name: string
  readonly port: number
  readonly seconds: number
}

export interface AttackOutcome {
  /** Connections that the server ended. */
  readonly cuts: number
  /** The reason that it gave, where it gave one. */
  readonly reason: string
  readonly sentBytes: number
}

/** An attacker that reads takes all answers. */
const wideWindows = Buffer.concat([
  toSettings([[settingIds.initialWindowSize, 0x7fff_ffff]]),
  toFrame(frameTypes.windowUpdate, 0, 0, Buffer.from([0x40, 0, 0, 0])),
])
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** After a cut the attacker comes back, as real ones do, but not in a loop without a pause. */
const pauseMs = 20
/** So much is sent in one go, and at most so many pieces on one connection. */
const chunkBytes = 65_536
const mostPieces = 50_000

const { name, port, seconds }: AttackOrder = workerData
const attack = attacks[name]
if (attack === undefined) throw new Error(`There is no attack "${name}"`)
let cuts = 0
let reason = ''
let sentBytes = 0
let isOver = false
const open = new Set<() => void>()

for (let count = attack.connections ?? 1; count > 0; count -= 1) begin()
setTimeout(() => {
  isOver = true
  for (const end of open) end()
  const outcome: AttackOutcome = { cuts, reason, sentBytes }
  parentPort?.postMessage(outcome)
}, seconds * 1000)

function begin(): void {
  if (isOver || attack === undefined) return
  const { settings = wideWindows, first, piece, isDeaf = false } = attack
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  const end = (): void => void socket.destroy()
  open.add(end)
  let next = 0
  let rest: Buffer = Buffer.alloc(0)
  const send = (): void => {
    for (;;) {
      const parts: Uint8Array[] = []
      let length = 0
      while (length < chunkBytes && next < mostPieces) {
        const bytes = piece(next)
        if (bytes === undefined) break
        next += 1
        length += bytes.length
        parts.push(bytes)
      }
      if (length === 0) return
      sentBytes += length
      if (!socket.write(Buffer.concat(parts)) || isOver) return
    }
  }
  socket.on('error', () => {})
  socket.on('connect', () => {
    socket.write(Buffer.concat([preface, settings, first?.() ?? Buffer.alloc(0)]))
    send()
  })
  socket.on('drain', send)
  if (isDeaf) socket.pause()
  else {
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      const used = walkFrames(rest, {
        readFrame(type, _flags, _id, bytes, start, finish) {
          if (type !== frameTypes.goaway) return
          reason = Buffer.from(bytes.subarray(start + 8, finish)).toString()
        },
      })
      rest = rest.subarray(used)
    })
  }
  socket.on('close', () => {
    open.delete(end)
    if (isOver) return
    cuts += 1
    setTimeout(begin, pauseMs)
  })
}
