import assert from 'node:assert/strict'
import { runCommand } from '../auth-command.ts'
import { toCommandEnvironment } from './open-source.ts'

/** Runs `auth import` or `auth export` for the database of a server, and returns the report. */
export async function runReport(
  server: Parameters<typeof toCommandEnvironment>[0],
  ...args: readonly string[]
) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], {
    env: toCommandEnvironment(server),
  })
  assert.equal(code, 0, stderr + stdout)
  const report = JSON.parse(stdout)
  const tableOf = (name: string) =>
    report.tables.find(({ table }: { table: string }) => table === name)
  return { report, tableOf, stderr }
}
