import { useState } from 'preact/hooks'
import type { PolicyTestRun } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { toFilePath } from './use-rule-file.ts'

interface PolicyTests {
  /** Undefined before the first run, and after the text has changed. */
  readonly run: PolicyTestRun | undefined
  readonly start: () => Promise<void>
}

/** Runs the policy tests with the current text of a file. */
export function usePolicyTests(name: string, text: string): PolicyTests {
  const [finished, setFinished] = useState<{ readonly text: string; readonly run: PolicyTestRun }>()
  return {
    run: finished?.text === text ? finished.run : undefined,
    start: async () => {
      const path = `${toFilePath(name)}/tests`
      const run = await callApi<PolicyTestRun>(path, { method: 'POST', body: { text } })
      setFinished({ text, run })
    },
  }
}
