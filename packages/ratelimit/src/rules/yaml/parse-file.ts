import { FaultList } from './fault-list.ts'
import { TextLines } from './yaml-lines.ts'
import type { YamlMap } from './yaml-node.ts'

/** One file while it is read, with what was found wrong in it, by the order of checks. */
export interface RuleFileReading {
  readonly name: string
  readonly lines: TextLines
  readonly syntax: FaultList
  readonly keys: FaultList
  readonly types: FaultList
  readonly rules: FaultList
  readonly warnings: FaultList
  /** Maps with a bad key or value: that something is missing there would be an echo. */
  readonly spoilt: Set<YamlMap>
}

export function createReading(name: string, text: string): RuleFileReading {
  const lines = new TextLines(text)
  const list = () => new FaultList(name, lines)
  return {
    name,
    lines,
    syntax: list(),
    keys: list(),
    types: list(),
    rules: list(),
    warnings: list(),
    spoilt: new Set(),
  }
}
