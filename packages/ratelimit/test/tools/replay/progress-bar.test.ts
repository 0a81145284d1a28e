import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createProgressBar, toProgressLine } from '../../../src/tools/replay/progress-bar.ts'

suite('the progress bar', () => {
  test('shows the progress, the speed and the remaining time', () => {
    const progress = { lines: 1_000_000, readBytes: 50 * 2 ** 20, totalBytes: 200 * 2 ** 20 }
    assert.equal(
      toProgressLine(progress, 4),
      '██████░░░░░░░░░░░░░░░░░░  25 % of 200.0 MiB  1,000,000 lines, 250,000/s, 12 s left',
    )
  })

  test('shows the number of bytes if the size is unknown', () => {
    const progress = { lines: 10, readBytes: 2048, totalBytes: undefined }
    assert.equal(toProgressLine(progress, 1), '2.0 KiB  10 lines, 10/s')
  })

  test('rewrites one line, no wider than the terminal, and leaves nothing behind', () => {
    const written: string[] = []
    let now = 0
    const target = { columns: 20, write: (text: string) => written.push(text) }
    const bar = createProgressBar(target, () => now)
    const progress = { lines: 1, readBytes: 1, totalBytes: 2 }
    bar.show(progress)
    assert.equal(written.length, 0)
    now = 150
    bar.show(progress)
    bar.show(progress)
    assert.equal(written.length, 1)
    assert.equal(written[0]?.replace('\r\u001b[2K', '').length, 19)
    bar.clear()
    assert.equal(written.at(-1), '\r\u001b[2K')
  })
})
