// All events between pages and players: events of the document, but for those that bubble.
//
//   fa:page {name}        another page is on screen                                     site/pages.js
//   fa:opened {part}      this part of the page has taken what the address says         site/pages.js
//   fa:tour               begin the guided tour                                         site/bar.js → step
//   fa:show {query}       show this Problem and place                 whoever embeds or measures the page → step
//   fa:compose            the mask builder                              a button of the controls → step
//   fa:predict            ask before each step, or no longer             site/bar.js, views/predict.js → step
//   fa:pass {pass}        show the other pass, forward or backward                      site/bar.js → step
//   fa:passed {pass}      this pass is shown                                            step → site/bar.js
//   fa:present            the Step page in presentation mode                              site/bar.js → step
//   fa:present-here       the page on screen in presentation mode                         site/bar.js → site/presentation.js
//   fa:run-step                         the Problem of the Step page is to be run        site/run.js → run
//   fa:save {kind}        save what is shown: png, svg, webm, html, json, npz           site/bar.js → step, story, run, learn
//   fa:blocks             a widget has drawn; bubbles                                   learn/widget.js → learn
//   fa:answered           a question {key, right}; bubbles                learn/questions.js → learn/lesson.js
//   fa:given              a run has given what it gives; bubbles             learn/kinds.js → learn/question_panel.js
//   fa:lesson {key}         show this lesson                                             site/back.js → learn/router.js
//
// To Gradio a component triggers "shown" (step/index.js: the controls are to follow the player). Gradio calls by name what main.js lists.

/** @param {string} name @param {unknown} [detail] what is handed over with it @param {EventTarget} [target] */
export function emit(name, detail = null, target = document) {
  target.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
}

/** @param {string} name @param {(detail: any) => void} act each event says above what its detail is */
export function listen(name, act) {
  document.addEventListener(name, (event) => act(/** @type {CustomEvent} */ (event).detail));
}

/** Resolves when this event comes with this detail. @param {string} name @param {unknown} detail */
export function nextEvent(name, detail) {
  const over = new AbortController();
  return /** @type {Promise<void>} */ (
    new Promise((done) =>
      document.addEventListener(
        name,
        (event) => {
          if (/** @type {CustomEvent} */ (event).detail !== detail) return;
          over.abort();
          done();
        },
        { signal: over.signal },
      ),
    )
  );
}
