// SPDX-License-Identifier: MIT
// The search, over index.js, which is loaded when it is first used; and the menu where there is no room for it.
"use strict";
{
    const up = document.body.dataset.up;
    const box = document.querySelector("search");
    const input = box.querySelector("input");
    const list = box.querySelector("ol");
    const button = document.querySelector("header button");
    const menu = document.getElementById("site");

    document.documentElement.classList.add("scripted");
    box.hidden = button.hidden = false;
    button.addEventListener("click", () => {
        button.setAttribute("aria-expanded", menu.classList.toggle("open"));
    });

    let loading = null;
    const load = () => loading ||= new Promise(done => {
        const script = document.createElement("script");
        script.src = up + "index.js";
        script.onload = done;
        document.head.append(script);
    });

    // All words must be there; those in titles count most, then beginnings.
    const score = (words, [, title, text]) => {
        const name = title.toLowerCase(), all = name + " " + text.toLowerCase();
        let sum = 0;
        for (const word of words) {
            if (!all.includes(word))
                return 0;
            sum += name === word ? 100 : name.startsWith(word) ? 20 : name.includes(word) ? 10 : 1;
        }
        return sum;
    };

    const show = () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(word => word);
        const found = words.length === 0 ? [] : pages.map(entry => [score(words, entry), entry]).filter(([sum]) => sum > 0)
            .sort(([a], [b]) => b - a).slice(0, 12);

        list.replaceChildren(...found.map(([, [address, title, text]]) => {
            const item = document.createElement("li"), link = document.createElement("a"), more = document.createElement("small");

            link.href = up + address;
            link.textContent = title;
            more.textContent = text;
            link.append(more);
            item.append(link);
            return item;
        }));
    };

    const asked = new URLSearchParams(location.search).get("q");
    if (asked) {
        input.value = asked;
        load().then(show);
    }
    input.addEventListener("focus", load);
    input.addEventListener("input", () => load().then(show));
    box.addEventListener("keydown", event => {
        const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);

        if (event.key === "Escape") {
            list.replaceChildren();
            input.blur();
        } else if (event.key === "Enter" && at < 0 && links.length > 0) {
            links[0].click();
            list.replaceChildren();
        } else if (event.key === "ArrowDown" && at + 1 < links.length) {
            links[at + 1].focus();
            event.preventDefault();
        } else if (event.key === "ArrowUp" && at >= 0) {
            (at > 0 ? links[at - 1] : input).focus();
            event.preventDefault();
        }
    });
    document.addEventListener("keydown", event => {
        if (event.key === "/" && document.activeElement !== input) {
            input.focus();
            event.preventDefault();
        }
    });
    document.addEventListener("click", event => {
        if (!box.contains(event.target) || event.target.closest("a"))
            list.replaceChildren();
    });
}
