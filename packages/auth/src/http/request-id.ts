import { randomUUID } from 'node:crypto'

/** That of the header the operator names, cleaned for the log; otherwise a new one. */
export function toRequestId(value: string | undefined): string {
  // oxlint-disable-next-line no-control-regex -- they would break the lines of the log
  const cleaned = value?.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, 128)
  return cleaned || randomUUID()
}
