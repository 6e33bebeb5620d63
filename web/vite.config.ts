import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// One script and one style sheet: `unspool export html` puts both into a single page.
export default defineConfig({
  plugins: [svelte()],
  base: "./",
  build: {
    outDir: "../src/unspool/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    target: "es2022",
    reportCompressedSize: false,
    license: { fileName: "licenses.md" }, // of what is bundled
    rollupOptions: { output: { codeSplitting: false } },
  },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
