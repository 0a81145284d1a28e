import { startChild } from '@portcullis/bench-kit/child'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatCount, formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import { codecs, messages, type ProtobufJob } from './protobuf-process.ts'

const calls = 100_000

/** Measures the two messages of the hot path, with hand-written and with generated code. */
export async function measureProtobuf({ rounds }: { readonly rounds: number }): Promise<void> {
  for (const message of messages) {
    for (const descriptors of [1, 3, 10]) {
      using children = new DisposableStack()
      const processes = codecs.map((codec) => ({
        codec,
        child: children.use(startChild(new URL('./protobuf-process.ts', import.meta.url))),
        seconds: [] as number[],
      }))
      for (let round = 0; round < rounds; round++) {
        for (const { codec, child, seconds } of toRoundOrder(processes, round)) {
          const job: ProtobufJob = { codec, message, descriptors, calls }
          seconds.push((await child.request<{ readonly cpuSeconds: number }>(job)).cpuSeconds)
        }
      }
      const ours = processes[0]?.seconds ?? []
      const rows = processes.map(({ codec, seconds }) => [
        codec,
        formatCount(calls / median(seconds)),
        ((median(seconds) / calls) * 1e6).toFixed(2),
        formatRatio(medianRatio(seconds, ours)),
      ])
      const columns = [
        left('codec'),
        right('messages per CPU-second'),
        right('µs'),
        right('portcullis is better by'),
      ]
      console.log(`\n${message}, ${descriptors} descriptors\n${formatTable(columns, rows)}`)
    }
  }
}
