// Loaded before a server: reports the CPU time used so far, or the memory in use, to the parent
// process.

const answers = {
  cpu() {
    const { user, system } = process.cpuUsage()
    return { microseconds: user + system }
  },
  memory() {
    globalThis.gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    return { bytes: heapUsed + external, rss }
  },
}

process.on('disconnect', () => process.exit())
process.on('message', (question) => process.send(answers[question]()))
