import { type Profiler, Session } from 'node:inspector/promises'
import type { Frame, Profile, StackSample } from './pprof.ts'

/** Measures this process with the profiler of V8. */
export interface ProfileSource extends AsyncDisposable {
  /** Measures the use of the CPU. Undefined if another measurement is running. */
  takeCpu(durationMs: number, signal: AbortSignal): Promise<Profile | undefined>
  /** Returns where the memory in use was allocated, as far as that was after the source was opened. */
  takeHeap(): Promise<Profile>
}

const cpuIntervalMicroseconds = 1_000
/** One sample for about this many allocated bytes, as in Go. */
const heapIntervalBytes = 524_288

export async function openProfileSource(): Promise<ProfileSource> {
  const session = new Session()
  session.connect()
  const startedAtMs = Date.now()
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling', { samplingInterval: heapIntervalBytes })
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: cpuIntervalMicroseconds })
  let isMeasuring = false
  return {
    async takeCpu(durationMs, signal) {
      if (isMeasuring) return undefined
      isMeasuring = true
      try {
        const cpuStartedAtMs = Date.now()
        await session.post('Profiler.start')
        await waitFor(durationMs, signal)
        const { profile } = await session.post('Profiler.stop')
        return toCpuProfile(profile, cpuStartedAtMs)
      } finally {
        isMeasuring = false
      }
    },
    async takeHeap() {
      const { profile } = await session.post('HeapProfiler.getSamplingProfile')
      // The types of Node.js lack the fields that newer versions of V8 have.
      return toHeapProfile(profile as unknown as HeapProfile, startedAtMs)
    },
    async [Symbol.asyncDispose]() {
      session.disconnect()
    },
  }
}

/** Returns early if the client disconnects or the server stops. */
function waitFor(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, durationMs)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

function toFrame({ functionName, url, lineNumber }: CallFrame): Frame {
  return { name: functionName || '(anonymous)', file: url, line: lineNumber + 1 }
}

/** V8 reports these as functions, but the CPU is not used while the process is idle. */
const notRunning: ReadonlySet<string> = new Set(['(root)', '(idle)'])

function toCpuProfile(profile: Profiler.Profile, startedAtMs: number): Profile {
  const { nodes, samples = [], timeDeltas = [] } = profile
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const totals = new Map<number, { count: number; microseconds: number }>()
  for (const [index, id] of samples.entries()) {
    const total = totals.get(id) ?? { count: 0, microseconds: 0 }
    total.count += 1
    total.microseconds += Math.max(0, timeDeltas[index] ?? 0)
    totals.set(id, total)
  }
  const toStack = (id: number | undefined): readonly Frame[] => {
    const node = id === undefined ? undefined : byId.get(id)
    if (node === undefined || node.callFrame.functionName === '(root)') return []
    return [toFrame(node.callFrame), ...toStack(parents.get(node.id))]
  }
  const stackSamples = [...totals]
    .filter(([id]) => !notRunning.has(byId.get(id)?.callFrame.functionName ?? '(root)'))
    .map(
      ([id, { count, microseconds }]): StackSample => ({
        frames: toStack(id),
        values: [count, microseconds * 1_000],
      }),
    )
  const cpu = { type: 'cpu', unit: 'nanoseconds' }
  return {
    types: [{ type: 'samples', unit: 'count' }, cpu],
    samples: stackSamples,
    startedAtMs,
    durationMs: (profile.endTime - profile.startTime) / 1_000,
    period: { ...cpu, value: cpuIntervalMicroseconds * 1_000 },
  }
}

interface HeapNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

interface HeapProfile {
  readonly head: HeapNode
  readonly samples: readonly { readonly nodeId: number }[]
}

function toHeapProfile(profile: HeapProfile, startedAtMs: number): Profile {
  const counts = new Map<number, number>()
  for (const { nodeId } of profile.samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1)
  const samples: StackSample[] = []
  const visit = (
    { id, callFrame, selfSize, children }: HeapNode,
    callers: readonly Frame[],
  ): void => {
    const isRoot = callFrame.functionName === '(root)'
    const frames = isRoot ? callers : [toFrame(callFrame), ...callers]
    if (selfSize > 0) samples.push({ frames, values: [counts.get(id) ?? 1, selfSize] })
    for (const child of children) visit(child, frames)
  }
  visit(profile.head, [])
  const space = { type: 'inuse_space', unit: 'bytes' }
  return {
    types: [{ type: 'inuse_objects', unit: 'count' }, space],
    samples,
    startedAtMs,
    durationMs: Date.now() - startedAtMs,
    period: { type: 'space', unit: 'bytes', value: heapIntervalBytes },
  }
}
