// Runs one attack in a separate process with the lowest priority, because a real attacker has its own machine
// and takes no CPU time from the server and the honest client.

import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { frameTypes, settingIds, toFrame, toSettings, walkFrames } from '../load/frames.ts'
import { type Attack, attacks } from './attacks.ts'

export interface AttackJob {
  readonly name: string
  readonly port: number
  readonly seconds: number
}

export interface AttackOutcome {
  /** Connections that the server ended. */
  readonly cuts: number
  /** The reason that the server gave, if any. */
  readonly reason: string
  readonly sentBytes: number
}

/** Flow control windows for an attacker that reads all responses. */
const wideWindows = Buffer.concat([
  toSettings([[settingIds.initialWindowSize, 0x7fff_ffff]]),
  toFrame(frameTypes.windowUpdate, 0, 0, Buffer.from([0x40, 0, 0, 0])),
])
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** The pause before the attacker reconnects after a cut. */
const pauseMs = 20
/** The size of a write: Linux may not interrupt a longer one, which would keep a core from the server for milliseconds. */
const chunkBytes = 16_384
/** The maximum number of pieces on one connection. */
const mostPieces = 50_000

setPriority(constants.priority.PRIORITY_LOW)
// Linux treats a core that runs only idle-class processes as free, so the server and the client never wait for it.
// A low priority alone is not enough: they may be queued behind each other while the attacker has a core to itself.
spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', `${process.pid}`])

answerParent(async (job: AttackJob | 'ready'): Promise<AttackOutcome | object> => {
  if (job === 'ready') return {}
  const attack = attacks[job.name]
  if (attack === undefined) throw new Error(`There is no attack "${job.name}"`)
  return new Attacker(attack, job.port).run(job.seconds)
})

class Attacker {
  readonly #attack: Attack
  readonly #port: number
  readonly #open = new Set<() => void>()
  #cuts = 0
  #reason = ''
  #sentBytes = 0
  #isOver = false

  constructor(attack: Attack, port: number) {
    this.#attack = attack
    this.#port = port
  }

  async run(seconds: number): Promise<AttackOutcome> {
    for (let count = this.#attack.connections ?? 1; count > 0; count -= 1) this.#begin()
    await wait(seconds * 1000)
    this.#isOver = true
    for (const end of this.#open) end()
    return { cuts: this.#cuts, reason: this.#reason, sentBytes: this.#sentBytes }
  }

  #begin(): void {
    if (this.#isOver) return
    const { settings = wideWindows, first, piece, isDeaf = false } = this.#attack
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true })
    const end = (): void => void socket.destroy()
    this.#open.add(end)
    let rest: Buffer = Buffer.alloc(0)
    const chunks = toChunks(piece)
    const send = (): void => {
      const chunk = this.#isOver ? undefined : chunks.next().value
      if (chunk === undefined) return
      this.#sentBytes += chunk.length
      socket.write(chunk, (error) => {
        if (!error) send()
      })
    }
    socket.on('error', () => {})
    socket.on('connect', () => {
      socket.write(Buffer.concat([preface, settings, first?.() ?? Buffer.alloc(0)]))
      send()
    })
    if (isDeaf) socket.pause()
    else {
      socket.on('data', (chunk: Buffer) => {
        rest = Buffer.concat([rest, chunk])
        const used = walkFrames(rest, {
          readFrame: (type, _flags, _id, bytes, start, finish) => {
            if (type !== frameTypes.goaway) return
            this.#reason = Buffer.from(bytes.subarray(start + 8, finish)).toString()
          },
        })
        rest = rest.subarray(used)
      })
    }
    socket.on('close', () => {
      this.#open.delete(end)
      if (this.#isOver) return
      this.#cuts += 1
      setTimeout(() => this.#begin(), pauseMs)
    })
  }
}

/** Joins short pieces, and splits long ones. */
function* toChunks(piece: Attack['piece']): Generator<Buffer, undefined> {
  let parts: Uint8Array[] = []
  let length = 0
  for (let next = 0; next < mostPieces; next += 1) {
    const bytes = piece(next)
    if (bytes === undefined) break
    parts.push(bytes)
    length += bytes.length
    if (length < chunkBytes) continue
    const joined = Buffer.concat(parts)
    for (let at = 0; at < length; at += chunkBytes) yield joined.subarray(at, at + chunkBytes)
    parts = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(parts)
}
