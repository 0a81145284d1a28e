import { startChild } from '@portcullis/bench-kit/child'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import { readers, type YamlJob, type YamlOutcome } from './yaml-process.ts'

const ruleCounts = [10, 1_000, 100_000] as const

/** Measures parsing a rule file to packed rules, in a new thread as at each reload. */
export async function measureYaml({ rounds }: { readonly rounds: number }): Promise<void> {
  for (const rules of ruleCounts) {
    using children = new DisposableStack()
    const processes = readers.map((reader) => ({
      reader,
      child: children.use(startChild(new URL('./yaml-process.ts', import.meta.url))),
      outcomes: [] as YamlOutcome[],
    }))
    for (let round = 0; round < rounds; round++) {
      for (const { reader, child, outcomes } of toRoundOrder(processes, round)) {
        const job: YamlJob = { reader, rules }
        outcomes.push(await child.request<YamlOutcome>(job))
      }
    }
    const [ours] = processes
    const rows = processes.map(({ reader, outcomes }) => {
      const cells = (['wallSeconds', 'cpuSeconds'] as const).flatMap((name) => {
        const values = outcomes.map((outcome) => outcome[name])
        const own = ours?.outcomes.map((outcome) => outcome[name]) ?? []
        return [(median(values) * 1000).toFixed(0), formatRatio(medianRatio(values, own))]
      })
      return [reader, ...cells]
    })
    const columns = [
      left('reader'),
      right('reload ms'),
      right('portcullis is better by'),
      right('CPU ms'),
      right('portcullis is better by'),
    ]
    const megabytes = ((ours?.outcomes[0]?.bytes ?? 0) / 1e6).toFixed(3)
    const title = `${rules.toLocaleString('en-US')} rules, ${megabytes} MB`
    console.log(`\n${title}\n${formatTable(columns, rows)}`)
  }
}
