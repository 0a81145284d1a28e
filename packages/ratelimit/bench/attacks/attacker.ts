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
/** The size of a write, and the maximum number of pieces on one connection. */
const chunkBytes = 65_536
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
        this.#sentBytes += length
        if (!socket.write(Buffer.concat(parts)) || this.#isOver) return
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
