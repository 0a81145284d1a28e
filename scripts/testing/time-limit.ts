// Loaded into every test process: ends it, with a reason, when it does not end by itself.
//
// `node --test` has a time limit for tests, and none for a process that stays alive after its
// last test because of a server or a timer that nobody closed.

const limitMs = Number(process.env.PORTCULLIS_TEST_TIME_LIMIT_MS)

// The runner, which has no such variable, may take as long as all files together.
if (process.env.NODE_TEST_CONTEXT && limitMs > 0) {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name))
    console.error(
      `This file was still running after ${limitMs / 1000} s and was ended. ` +
        `What kept it alive: ${open.join(', ') || 'unknown'}.`,
    )
    process.exit(1)
  }, limitMs)
  timer.unref()
}

// Once in a while Node turns in circles for ever when it takes itself apart after the last test
// (nodejs/node#47748), where no timer is heard any more. A process that has nothing left to do and has told
// everybody so ends without that.
if (process.env.NODE_TEST_CONTEXT) {
  const end = (code: number) => process.exit(code)
  process.on('beforeExit', () => {
    // Behind all who want to be told of the end.
    process.off('exit', end)
    process.on('exit', end)
  })
}
