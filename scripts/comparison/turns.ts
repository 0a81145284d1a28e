import { createProgress } from '@portcullis/bench-kit/progress'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'

/** Something whose cost is compared with that of others. */
export interface Subject {
  readonly name: string
  /** Resolves to microseconds of CPU time. */
  measure(): Promise<number>
}

export interface Cost {
  readonly name: string
  /** Median over the rounds. */
  readonly microseconds: number
  /** Median over the rounds of the ratio to the first subject in the same round. */
  readonly ratio: number
}

/** Measures the subjects in turn, so that a slowdown of the machine affects all of them. */
export async function measureInTurn(
  subjects: readonly Subject[],
  rounds: number,
  progress: Pick<ReturnType<typeof createProgress>, 'show' | 'end'> = createProgress(),
): Promise<readonly Cost[]> {
  const values = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]))
  let done = 0
  for (let round = 0; round < rounds; round++) {
    for (const subject of toRoundOrder(subjects, round)) {
      progress.show(done++, rounds * subjects.length, subject.name)
      values.get(subject)?.push(await subject.measure())
    }
  }
  progress.end()
  const [first = []] = values.values()
  return [...values].map(([{ name }, own]) => ({
    name,
    microseconds: median(own),
    ratio: medianRatio(own, first),
  }))
}
