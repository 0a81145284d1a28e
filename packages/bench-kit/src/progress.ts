/** One line that is rewritten in place on a terminal; otherwise one line for every tenth. */
export function createProgress() {
  const { stderr } = process
  const start = performance.now()
  let tenth = -1
  return {
    show(done: number, total: number, what: string): void {
      const share = done / total
      const secondsLeft =
        done === 0 ? 0 : ((performance.now() - start) / 1000 / share) * (1 - share)
      const left = done === 0 ? '' : `, ${Math.ceil(secondsLeft)} s left`
      const line = `${Math.round(share * 100)} %${left} · ${what}`
      if (stderr.isTTY) {
        stderr.write(`\r\x1b[2K${line.slice(0, stderr.columns - 1)}`)
      } else if (Math.floor(share * 10) > tenth) {
        tenth = Math.floor(share * 10)
        stderr.write(`${line}\n`)
      }
    },
    /** Shows an activity of unknown duration. */
    note(what: string): void {
      if (stderr.isTTY) stderr.write(`\r\x1b[2K${what.slice(0, stderr.columns - 1)}`)
      else stderr.write(`${what}\n`)
    },
    end(): void {
      if (stderr.isTTY) stderr.write('\r\x1b[2K')
    },
  }
}
