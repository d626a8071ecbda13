"""The bar above all pages, as HTML: assets/js/site/bar.js makes it live."""

BAR = """
<div class="fa-bar-top">
  <p class="fa-said" role="status" aria-live="polite"></p>
  <h1>FlashAttention<span>, tile by tile</span></h1>
  <span class="fa-kernel-chip" role="status" hidden></span>
  <div class="fa-pass" role="group" aria-label="Pass">
    <button type="button" data-pass="forward" aria-pressed="true">Forward</button>
    <button type="button" data-pass="backward" aria-pressed="false">Backward</button>
  </div>
  <button type="button" class="fa-share fa-start-tour">Tour</button>
  <button type="button" class="fa-share fa-start-present">Present</button>
  <button type="button" class="fa-share fa-start-symbols" aria-haspopup="dialog"
    aria-label="Keys and symbols" title="Keys and symbols">?</button>
  <details class="fa-menu">
    <summary class="fa-share">More</summary>
    <div>
      <button type="button" class="fa-start-predict" aria-pressed="false">Predict</button>
      <button type="button" class="fa-copy">Copy link</button>
      <button type="button" class="fa-copy-embed">Copy embed code</button>
      <p id="fa-export">Export</p>
      <div role="group" aria-labelledby="fa-export">
        <button type="button" data-save="png">This frame, PNG</button>
        <button type="button" data-save="svg">This frame, SVG</button>
        <button type="button" data-save="webm">Animation, WebM video</button>
        <button type="button" data-save="html">Animation, offline HTML</button>
        <button type="button" data-save="json">Trace, JSON</button>
        <button type="button" data-save="npz">Trace, NumPy .npz</button>
      </div>
    </div>
  </details>
</div>
"""
